import { defaults } from 'pg';

// Left to itself the driver writes a Date in the machine's own time zone, with an offset in whole minutes. Before
// standard time came up (1883 in New York, 1893 in Vienna) offsets had seconds, and such a date would be stored wrong.
defaults.parseInputDatesAsUTC = true;
