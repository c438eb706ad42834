export { InsufficientStockError, STOCK_COUNT } from './inventory.dto';
export { InventoryModule } from './inventory.module';
export { FIRST_QUANTITY, InventoryService, STOCK, StockReservations } from './inventory.service';
