import { type Values, oneOf, variable } from '../../settings/environment';

export const DEPRECATION_VARIABLES = {
  afterSunset: variable('AFTER_SUNSET', oneOf(['serve', 'gone']), 'serve'),
};

export type DeprecationSettings = Values<typeof DEPRECATION_VARIABLES>;
