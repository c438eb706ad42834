/** A start that could not be; the message is one line for whoever started it. */
export class StartError extends Error {}
