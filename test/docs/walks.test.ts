import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { here } from '#bench/beside/checkout.ts';
import { measureWalks, type Walk } from '#bench/walks.ts';
import { long } from '#test/support/run/long.ts';

/** A heading of `docs/architecture.md`, and the files of the list below it. */
interface Section {
  readonly title: string;
  readonly files: ReadonlyArray<string>;
}

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
/** The hops that all walks share have a list of their own. */
const shared = 'Every request';
const maxMeasureMs = 180_000;
/** The lengths of the walks. What adds a file to one shows here that a reader of requests has more to read. */
const maxFiles = { 'GET of a flow': 28, 'POST of a flow': 64, 'chat of the sandbox': 66 };

const sections = page
  .split(/^### /m)
  .slice(1)
  .map((text): Section => {
    const hops = text.matchAll(/^\d+\. `([^`]+\.ts)`: .{10,}/gm);
    return { title: text.slice(0, text.indexOf('\n')), files: [...hops].map(([, file = '']) => file) };
  })
  .filter(({ files }) => files.length > 0);

const filesOf = (title: string) => sections.find((section) => section.title === title)?.files ?? assert.fail(title);

describe('the three walks in docs/architecture.md', () => {
  it('name files that exist, each once in a walk', () => {
    assert.equal(sections.length, 4);
    for (const { title, files } of sections) {
      const all = title === shared ? files : [...filesOf(shared), ...files];
      assert.equal(new Set(all).size, all.length, `${title} names a file twice`);
      assert.deepEqual(
        files.filter((file) => !existsSync(join(root, file))),
        [],
      );
    }
  });

  it('are no longer than they were', () => {
    for (const [title, max] of Object.entries(maxFiles)) {
      const count = filesOf(shared).length + filesOf(title).length;
      assert.ok(count <= max, `${title} has ${count} files, more than ${max}`);
    }
  });

  it(`are the files that requests enter, as \`npm run bench -- walks\` lists them ${long}`, async function () {
    this.timeout(maxMeasureMs);
    const differences = (await measureWalks(here)).map(differencesOf).filter((text) => text !== '');
    assert.equal(differences.join('\n'), '');
  });
});

function differencesOf({ what, files, sometimes }: Walk): string {
  const listed = [...filesOf(shared), ...filesOf(what)];
  const missing = files.filter((file) => !listed.includes(file));
  const surplus = listed.filter((file) => !files.includes(file) && !sometimes.includes(file));
  const lines = [...missing.map((file) => `  + ${file}`), ...surplus.map((file) => `  - ${file}`)];
  return lines.length === 0 ? '' : [`${what}: change the list`, ...lines].join('\n');
}
