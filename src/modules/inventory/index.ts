export { InsufficientStockError, stockQuantity } from './inventory.dto';
export { InventoryModule } from './inventory.module';
export { InventoryService } from './inventory.service';
export { FIRST_QUANTITY, StockReservations } from './stock-reservations';
