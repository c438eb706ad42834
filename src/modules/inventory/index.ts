export { InsufficientStockError, STOCK_COUNT } from './inventory.dto';
export { InventoryModule } from './inventory.module';
export { InventoryService, STOCK } from './inventory.service';
export { FIRST_QUANTITY, StockReservations } from './stock-reservations';
