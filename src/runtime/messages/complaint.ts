import { printable } from './text';

/** Longer arguments are cut: the user knows the rest, and the message would get lost. */
const REPEATED = 100;

/**
 * A failure as one line for standard error, without control characters.
 * @param given the arguments of the command, which the message may repeat
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

/** Hides keys: a message may repeat an argument, and logs keep messages. The last four characters identify the key. */
export function withoutKeys(message: string): string {
  return message.replace(/psk_live_\w*(\w{4})/g, 'psk_live_…$1');
}

/** The value in `--name=value`. */
function valueOf(argument: string): string {
  return argument.slice(argument.indexOf('=') + 1);
}

function beginning(text: string): string {
  return `${[...text].slice(0, REPEATED).join('')}…`;
}
