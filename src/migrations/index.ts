import { FirstSchema1795000000000 } from './1795000000000-first-schema';
import { SavedMinutes1795850000000 } from './1795850000000-saved-minutes';

/** In the order of execution. */
export const MIGRATIONS = [FirstSchema1795000000000, SavedMinutes1795850000000];
