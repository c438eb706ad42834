import { printable } from './text';

/** More of an argument is not repeated: who typed it knows the rest, and the message would be lost in it. */
const REPEATED = 100;

/**
 * What is written to standard error of a failure: one line, in which nothing commands the terminal.
 * @param given what the command was called with, which the message may repeat
 */
export function complaint(message: string, given: readonly string[] = process.argv.slice(2)): string {
  const long = given
    .flatMap((argument) => [argument, valueOf(argument)])
    .filter((text) => text.length > REPEATED);
  const short = long.reduce(
    (text, argument) => text.replaceAll(argument, () => beginning(argument)),
    message,
  );
  return `petstore: ${printable(withoutKeys(short))}\n`;
}

/** A message may repeat what was typed, and messages are kept in logs. The last four characters tell which key it was. */
export function withoutKeys(message: string): string {
  return message.replace(/psk_live_\w*(\w{4})/g, 'psk_live_…$1');
}

/** What stands behind the equals sign of `--name=value`. */
function valueOf(argument: string): string {
  return argument.slice(argument.indexOf('=') + 1);
}

function beginning(text: string): string {
  return `${[...text].slice(0, REPEATED).join('')}…`;
}
