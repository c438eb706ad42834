export { InsufficientStockError } from './inventory.errors';
export { InventoryModule } from './inventory.module';
export { StockReservations } from './stock-reservations';
