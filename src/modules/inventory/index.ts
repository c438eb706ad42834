import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InventoryController } from './inventory.controller';
import { InventoryService } from './inventory.service';
import { InventoryItem, Stock } from './stock.entity';

export { InsufficientStockError, STOCK_COUNT, StockLimitExceededError } from './inventory.dto';
export { FIRST_QUANTITY, InventoryService, STOCK, StockOperations } from './inventory.service';

/** Stock. */
@Module({
  imports: [TypeOrmModule.forFeature([Stock, InventoryItem])],
  controllers: [InventoryController],
  providers: [InventoryService],
  exports: [InventoryService],
})
export class InventoryModule {}
