export {
  BaseCommand,
  COMMANDER_OPTIONS,
  CommandGroup,
  type Commander,
  type ConfirmedOptions,
  type Option,
  StoreCommand,
  StoreConnection,
  Subcommand,
  type SubcommandDeclaration,
} from './command';
export {
  OutputFailure,
  finishUnlessInterrupted,
  interrupted,
  interruptible,
  listenForInterruption,
  reportFailure,
  untilInterrupted,
  writeUsageError,
} from './failure';
export { outputIsWritten, readInput, typedPath, writeFile, writeOutput } from './files';
export { confirm, operatorName, withProgress } from './operator';
export {
  DAYS_OPTION,
  duration,
  futureInstant,
  identifier,
  requireAsArgumentOrOption,
  shortText,
  someOf,
  someOfOption,
  wholeNumber,
} from './option';
export {
  type OutputOptions,
  counted,
  inUnits,
  print,
  printDone,
  printMany,
  printOne,
  recordLines,
  tableLines,
} from './output';
