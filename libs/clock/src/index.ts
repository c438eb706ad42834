export { Alarm } from './alarm';
export { Clock, ClockModule, DAY_MS, ManualClock, SystemClock, utcDate } from './clock';
export { RepeatingTask, type RepeatingTaskOptions } from './repeating-task';
