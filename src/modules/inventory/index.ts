export { InsufficientStockError, STOCK_COUNT } from './inventory.dto';
export { InventoryModule } from './inventory.module';
export { FIRST_QUANTITY, InventoryService, STOCK, StockOperations } from './inventory.service';
