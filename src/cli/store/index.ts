import { CATEGORY_COMMANDS } from './categories.command';
import { EventsCommand } from './events.command';
import { ExportCommand } from './export.command';
import { ImportCommand } from './import.command';
import { ORDER_COMMANDS } from './orders.command';
import { PET_COMMANDS } from './pets.command';
import { STOCK_COMMANDS } from './stock.command';
import { WEBHOOK_COMMANDS } from './webhooks.command';

export const STORE_COMMANDS = [
  ...PET_COMMANDS,
  ...CATEGORY_COMMANDS,
  ...ORDER_COMMANDS,
  ...STOCK_COMMANDS,
  EventsCommand,
  ...WEBHOOK_COMMANDS,
  ImportCommand,
  ExportCommand,
];
