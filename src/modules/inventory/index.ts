export { BulkStock } from './bulk-stock';
export { InsufficientStockError } from './inventory.errors';
export { InventoryModule } from './inventory.module';
export { InventoryService } from './inventory.service';
export { stockQuantity } from './stock-fields';
export { FIRST_QUANTITY } from './stock-lifecycle';
export { StockReservations } from './stock-reservations';
