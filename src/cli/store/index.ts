import { CATEGORY_COMMANDS } from './categories.command';
import { ORDER_COMMANDS } from './orders.command';
import { PET_COMMANDS } from './pets.command';
import { STOCK_COMMANDS } from './stock.command';

export const STORE_COMMANDS = [...PET_COMMANDS, ...CATEGORY_COMMANDS, ...ORDER_COMMANDS, ...STOCK_COMMANDS];
