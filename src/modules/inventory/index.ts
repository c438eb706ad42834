export { BulkStock, InventoryService } from './inventory.service';
export { InsufficientStockError, stockQuantity } from './inventory.dto';
export { InventoryModule, FIRST_QUANTITY } from './inventory.module';
export { StockReservations } from './stock-reservations';
