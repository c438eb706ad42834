import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/embedded-postgres';
import type { CleanUp } from './clean-up';
import { PETSTORE, output } from './program';

export const FEW_PETS = 1_000;
const CATEGORIES = 10;
const STOCK = 2_000_000_000;

/** The day has the lower limit, so that it is the window that is told of: unlike the minute, it never begins anew. */
const LIMITS = ['--per-minute', '2147483647', '--per-day', '2000000000'];

const TEMPLATE = 'bench_template';

const FILLING = [
  `INSERT INTO categories (name) SELECT 'Category ' || n FROM generate_series(1, ${CATEGORIES}) n ORDER BY n`,
  ...petsFrom(1, FEW_PETS),
];

/** Fills in the pets from one id up to another, a million of them in some seconds. */
function petsFrom(first: number, last: number): string[] {
  return [
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Pet ' || n, (n - 1) % ${CATEGORIES} + 1, 'available' FROM generate_series(${first}, ${last}) n ORDER BY n`,
    // The foreign key would otherwise look every one of them up again.
    `SET session_replication_role = replica`,
    `INSERT INTO inventory (pet_id, quantity) SELECT n, ${STOCK} FROM generate_series(${first}, ${last}) n`,
    `RESET session_replication_role`,
    `VACUUM ANALYZE`,
  ];
}

/** The pet that every database has under this id. */
export function petOf(id: number): { id: number; name: string; categoryId: number; status: string } {
  return { id, name: `Pet ${id}`, categoryId: ((id - 1) % CATEGORIES) + 1, status: 'available' };
}

/** One PostgreSQL as the service ships it, and in it a database for each contender, all cloned from the same one. */
export class Databases {
  private clones = 0;

  private constructor(
    private readonly server: EmbeddedPostgres,
    /** The key of a client whose limits are too high to be reached. */
    readonly apiKey: string,
  ) {}

  /** @param folder where the server keeps its data; one that other accounts can enter */
  static async start(folder: string, cleanUp: CleanUp, signal: AbortSignal): Promise<Databases> {
    const server = await startEmbeddedPostgres({ dataDirectory: folder, database: TEMPLATE });
    cleanUp.add(() => server.stop());
    const petstore = (...args: string[]) => {
      const environment = { DATABASE_URL: server.url };
      return output(process.execPath, [PETSTORE, ...args], { cwd: folder, signal, environment });
    };
    await petstore('db', 'migrate');
    await petstore('clients', 'create', '--name', 'bench', '--plan', 'enterprise', ...LIMITS);
    const issued = JSON.parse(await petstore('keys', 'issue', '--client', 'bench', '--json')) as {
      key: string;
    };
    await run(server.url, FILLING);
    return new Databases(server, issued.key);
  }

  /** @returns the address of a fresh database with so many pets, dropped in the end */
  async create(cleanUp: CleanUp, pets = FEW_PETS): Promise<string> {
    this.clones += 1;
    const name = `bench_${this.clones}`;
    await run(this.urlOf('postgres'), [`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`]);
    cleanUp.add(() => run(this.urlOf('postgres'), [`DROP DATABASE ${name} WITH (FORCE)`]));
    if (pets > FEW_PETS) {
      await run(this.urlOf(name), petsFrom(FEW_PETS + 1, pets));
    }
    return this.urlOf(name);
  }

  private urlOf(database: string): string {
    const url = new URL(this.server.url);
    url.pathname = `/${database}`;
    return url.href;
  }
}

export async function run(url: string, statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) {
      await client.query(statement);
    }
  } finally {
    await client.end();
  }
}
