import { FirstSchema1795000000000 } from './1795000000000-first-schema';
import { AnnounceBans1795100000000 } from './1795100000000-announce-bans';
import { AuditTrail1795200000000 } from './1795200000000-audit-trail';
import { OldUsage1795250000000 } from './1795250000000-old-usage';
import { QuotaResets1795300000000 } from './1795300000000-quota-resets';
import { RecentBans1795350000000 } from './1795350000000-recent-bans';
import { IndexesOfLists1795400000000 } from './1795400000000-indexes-of-lists';
import { RotationOverlap1795420000000 } from './1795420000000-rotation-overlap';
import { Events1795500000000 } from './1795500000000-events';
import { Webhooks1795550000000 } from './1795550000000-webhooks';
import { EventBlocks1795600000000 } from './1795600000000-event-blocks';
import { BansByOperators1795650000000 } from './1795650000000-bans-by-operators';
import { WebhookProbation1795700000000 } from './1795700000000-webhook-probation';
import { DayOfDeliveries1795750000000 } from './1795750000000-day-of-deliveries';
import { NamesOfKeys1795800000000 } from './1795800000000-names-of-keys';
import { SavedMinutes1795850000000 } from './1795850000000-saved-minutes';

/** In the order of execution. */
export const MIGRATIONS = [
  FirstSchema1795000000000,
  AnnounceBans1795100000000,
  AuditTrail1795200000000,
  OldUsage1795250000000,
  QuotaResets1795300000000,
  RecentBans1795350000000,
  IndexesOfLists1795400000000,
  RotationOverlap1795420000000,
  Events1795500000000,
  Webhooks1795550000000,
  EventBlocks1795600000000,
  BansByOperators1795650000000,
  WebhookProbation1795700000000,
  DayOfDeliveries1795750000000,
  NamesOfKeys1795800000000,
  SavedMinutes1795850000000,
];
