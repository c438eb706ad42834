import * as fs from 'node:fs';
import { type Account, cannotActAs } from './account';
import { type DataFolder, FILES } from './data-folder';
import { EmbeddedPostgresError, messageOf } from './errors';
import { type BinaryPackage, createLinks, platformName, programsOf } from './package';
import { type ProgramEnd, reasonIn, runProgram } from './program';
import { copyRuntime } from './runtime-copy';
import { passingFolders, safeSubfolder } from './shared-folder';

/**
 * A folder with bin, lib and share which the account can run: that of the package where possible, else a copy.
 *
 * A copy is needed when npm's install scripts were off (the links of the libraries are missing) and the
 * package cannot be written, or when the account cannot reach the package.
 *
 * @throws EmbeddedPostgresError when the binaries cannot run on this machine or no copy can be made
 */
export async function prepareRuntime(
  source: BinaryPackage,
  account: Account | undefined,
  folder: DataFolder,
  shared: string | undefined,
): Promise<string> {
  let failure = 'links of its libraries are missing';
  if (completeInPlace(source)) {
    const end = await tryRuntime(source.native, account);
    if (end.status === 0) return source.native;
    refuseHopeless(end, account);
    failure = reasonIn(end.output);
  }
  for (const parent of copyParents(account, folder, shared)) {
    try {
      const copy = copyRuntime(source, parent, `${source.version}-${platformName()}`);
      const end = await tryRuntime(copy, account);
      if (end.status === 0) return copy;
      failure = reasonIn(end.output);
    } catch (error) {
      failure = messageOf(error);
    }
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL binaries in ${source.native} cannot be run: ${failure}; ` +
      'install what is missing or give a database of your own',
  );
}

function tryRuntime(native: string, account: Account | undefined): Promise<ProgramEnd> {
  return runProgram(programsOf(native).postgres, ['--version'], account);
}

/** Failures which a copy elsewhere would not change. */
function refuseHopeless(end: ProgramEnd, account: Account | undefined): void {
  if (account && (end.code === 'EPERM' || end.code === 'EINVAL')) throw cannotActAs(account, end.code);
  if (end.code === 'ENOENT' || /version `\w+_[\d.]+' not found/.test(end.output)) {
    throw new EmbeddedPostgresError(
      `the PostgreSQL binaries for ${platformName()} do not fit this system (${reasonIn(end.output)}); ` +
        'on Linux they need glibc; give a database of your own',
    );
  }
}

/** Creates missing links and sets missing execute bits; false where that is needed and not possible. */
function completeInPlace(source: BinaryPackage): boolean {
  try {
    if (process.platform === 'win32') return true;
    createLinks(source.native, source.links);
    for (const program of Object.values<string>({ ...programsOf(source.native) })) {
      if ((fs.statSync(program).mode & 0o111) === 0) fs.chmodSync(program, 0o755);
    }
    return true;
  } catch {
    return false;
  }
}

/** Root's copy must be where the account can reach it; any other user keeps it beside his data. */
function* copyParents(
  account: Account | undefined,
  folder: DataFolder,
  shared: string | undefined,
): Generator<string> {
  if (!account) {
    const own = folder.file(FILES.runtime);
    fs.mkdirSync(own, { recursive: true, mode: 0o700 });
    yield own;
    return;
  }
  for (const candidate of passingFolders(shared)) {
    const parent = safeSubfolder(candidate, 'runtime', account);
    if (parent) yield parent;
  }
}
