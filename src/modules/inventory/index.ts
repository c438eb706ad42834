export { BulkStock } from './bulk-stock';
export { InsufficientStockError } from './inventory.errors';
export { InventoryModule } from './inventory.module';
export { InventoryService } from './inventory.service';
export { FIRST_QUANTITY, stockQuantity } from './stock-fields';
export { StockReservations } from './stock-reservations';
