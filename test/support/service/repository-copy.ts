import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { WatchedProcess } from './watched-process.ts';

const root = new URL('../../..', import.meta.url).pathname;

/** What runs the service and its tests. */
const copied = ['src', 'commands', 'queries', 'projections', 'test', 'package.json', 'tsconfig.json', '.mocharc.json'];

/** A copy of this repository in a temporary folder, whose files a test changes. It shares the installed packages. */
export class RepositoryCopy {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<RepositoryCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'repository-'));
    const filter = (path: string) => basename(path) !== 'node_modules';
    for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true, filter });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    return new RepositoryCopy(folder);
  }

  read(file: string): Promise<string> {
    return readFile(join(this.#folder, file), 'utf8');
  }

  async write(file: string, text: string): Promise<void> {
    const path = join(this.#folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  /**
   * Runs a program of Node in the copy.
   * @returns its exit code, and what it has written
   */
  async run(
    file: string,
    args: ReadonlyArray<string>,
  ): Promise<{ readonly code: number | null; readonly output: string }> {
    // Compiled code is found by the path of its file: that of a copy is of no use to a later run.
    const environment = { NODE_COMPILE_CACHE: join(this.#folder, '.cache/compiled') };
    const program = new WatchedProcess({ file, args, environment, folder: this.#folder });
    const { code } = await program.ended;
    return { code, output: program.stdout + program.stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
