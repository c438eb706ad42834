export { BulkStock } from './bulk-stock';
export { FIRST_QUANTITY } from './first-stock';
export { InsufficientStockError } from './inventory.errors';
export { InventoryModule } from './inventory.module';
export { InventoryService } from './inventory.service';
export { stockQuantity } from './stock-fields';
export { StockReservations } from './stock-reservations';
