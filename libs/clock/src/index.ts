export { Clock, ClockModule, DAY_MS, ManualClock, SystemClock, utcDate } from './clock';
export { RepeatingTask } from './repeating-task';
