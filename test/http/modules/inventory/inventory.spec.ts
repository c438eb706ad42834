import { useStore } from '../../../support/use-service';
import { MOST, adjust, open, sale, set, testRules } from '../support/stock-rules';

const FULL = 'stock_limit_exceeded';

testRules(useStore(), [
  ['a sold-out pet becomes available when its stock is set', 1, [sale, set(5)], 5, 'available'],
  ['a pet whose stock is set to nothing is sold', 1, [set(0)], 0, 'sold'],
  ['units added to nothing make a pet available', 1, [open(), adjust(2)], 2, 'available'],
  ['the last unit that is taken away sells the pet', 2, [adjust(-2)], 0, 'sold'],
  ['no more can be taken than is left', 3, [open(2), adjust(-2, 'insufficient_stock')], 1, 'available'],
  ['no more units can be added than fit', 3, [set(MOST - 2), adjust(3, FULL), adjust(2)], MOST, 'available'],
]);
