import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from './choose.ts';

/** What the changes are made in. The page of the dashboard has tests in a browser alone. */
const product = /^(src|commands|queries|projections)\/.*\.ts$/;
const page = 'src/dashboard/page/';
const code = /^(src|commands|queries|projections|examples|test)\/.*\.m?ts$/;

/** The code of a checkout of the repository. */
export class Checkout {
  readonly folder: string;
  readonly files: ReadonlyArray<string>;
  readonly sources: ReadonlyArray<Source>;

  constructor(folder: string) {
    this.folder = folder;
    const listed = execFileSync('git', ['ls-files', '-z'], { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 24 });
    this.files = listed.split('\0').filter((file) => file !== '' && existsSync(join(folder, file)));
    this.sources = this.files
      .filter((path) => code.test(path))
      .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
  }

  get product(): ReadonlyArray<Source> {
    return this.sources.filter(({ path }) => product.test(path) && !path.startsWith(page));
  }

  get aliases(): Readonly<Record<string, string>> {
    return JSON.parse(readFileSync(join(this.folder, 'package.json'), 'utf8')).imports;
  }
}
