/** The URL of the database, for code that needs its own connection. The command line knows it once it opens the database. */
export class DatabaseUrl {
  constructor(public value: string) {}
}
