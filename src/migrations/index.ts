import { FirstSchema1795000000000 } from './1795000000000-first-schema';
import { SavedMinutes1795850000000 } from './1795850000000-saved-minutes';
import { EventRows1796000000000 } from './1796000000000-event-rows';
import { StatusFollowsStock1796000300000 } from './1796000300000-status-follows-stock';
import { NoNotifications1796100000000 } from './1796100000000-no-notifications';
import { AuditWithoutSearch1796200000000 } from './1796200000000-audit-without-search';

/** In the order of execution. */
export const MIGRATIONS = [
  FirstSchema1795000000000,
  SavedMinutes1795850000000,
  EventRows1796000000000,
  StatusFollowsStock1796000300000,
  NoNotifications1796100000000,
  AuditWithoutSearch1796200000000,
];
