import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import packageJson from '../../package.json' with { type: 'json' };

const semver: {
  readonly minVersion: (range: string) => { readonly version: string };
  readonly satisfies: (version: string, range: string) => boolean;
} = createRequire(import.meta.url)('semver');

/** With each of these versions, `npm ci` prints no `EBADENGINE`. */
describe('the oldest Node that package.json names', () => {
  const { version: oldest } = semver.minVersion(packageJson.engines.node);

  it('satisfies every package of the lock file', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>;
    };
    const unfit = Object.entries(packages)
      .map(([path, { engines }]) => ({ path, node: engines?.node ?? '*' }))
      .filter(({ node }) => !semver.satisfies(oldest, node));
    assert.ok(Object.keys(packages).length > 100);
    assert.deepEqual(unfit, []);
  });

  it('matches the version that the README names', () => {
    const [major, minor] = oldest.split('.');
    assert.ok(readFileSync('README.md', 'utf8').includes(`You need Node ${major} (${major}.${minor}) or newer`));
  });
});
