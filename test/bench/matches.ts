import type { ContenderName } from './contenders';
import type { Options } from './options';
import type { WorkloadName } from './workloads';

/** Two contenders and the work on which they are compared. */
export interface Match {
  subject: ContenderName;
  peer: ContenderName;
  workloads: WorkloadName[];
}

/** What the service is asked to do; the fixed JSON is there to see how far Node itself would go. */
const WORK: readonly WorkloadName[] = ['get-pet', 'list-pets', 'post-order', 'too-many-requests'];

/** What has to be as fast with many pets as with few. */
const AT_SCALE: readonly WorkloadName[] = ['get-pet', 'list-pets', 'list-pets-deep'];

/** The matches that the options ask for. */
export function matchesOf({ only, peers }: Pick<Options, 'only' | 'peers'>): Match[] {
  const wanted = new Set<string>(only);
  const chosen = (names: readonly WorkloadName[]) => names.filter((name) => wanted.has(name));
  const matches: Match[] = peers.map((peer) => ({
    subject: 'service',
    peer,
    workloads: chosen(peer === 'bare-node' ? ['fixed-json'] : WORK),
  }));
  if (wanted.has('redis')) {
    matches.push({ subject: 'service-redis', peer: 'service', workloads: ['get-pet'] });
  }
  if (wanted.has('scale')) {
    matches.push({ subject: 'service-large', peer: 'service', workloads: [...AT_SCALE] });
  }
  return matches.filter(({ workloads }) => workloads.length > 0);
}
