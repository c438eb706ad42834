/** The version of the service, which package.json repeats; a test compares them. */
export const VERSION = '1.0.0';
