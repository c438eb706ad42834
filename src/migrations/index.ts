import { FirstSchema1795000000000 } from './1795000000000-first-schema';

/** In the order in which they run. */
export const MIGRATIONS = [FirstSchema1795000000000];
