/** The URL of the database, for code that needs its own connection. */
export abstract class DatabaseUrl {
  abstract readonly value: string;
}
