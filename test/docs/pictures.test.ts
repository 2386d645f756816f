import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pagePaths } from '#dashboard/page-paths.ts';
import { withFloors } from '../../docs/draw-floors.ts';
import { withLimits } from '../../docs/draw-limits.ts';

const root = join(import.meta.dirname, '../..');
const pictures = join(root, 'docs/pictures');
const maxReadmeBytes = 300_000;

describe('pictures', () => {
  it('opens the README with the dashboard, in light and in dark, in at most 300 kB', () => {
    const shown = [
      ...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/(?:src|srcset)="(docs\/pictures\/[^"]+)"/g),
    ];
    const files = shown.map(([, file = '']) => file);
    assert.deepEqual(files, ['docs/pictures/overview-dark.webp', 'docs/pictures/overview.webp']);
    const bytes = files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
    assert.ok(bytes <= maxReadmeBytes, `${bytes} bytes`);
  });

  it('draws the floors of the architecture as the linter has them', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    assert.equal(withFloors(page), page, 'run npm run diagrams');
    assert.match(page, /floor_top --> floor_app --> floor_callers --> floor_rules/);
  });

  it('shows the limits of what runs at the same time as the code has them', () => {
    const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    assert.equal(withLimits(page), page, 'run npm run diagrams');
    assert.match(page, /^\| `page` \|/m);
  });

  it('shows each view of the dashboard once in docs/dashboard.md, and every picture somewhere', () => {
    const page = readFileSync(join(root, 'docs/dashboard.md'), 'utf8');
    const shown = [...page.matchAll(/\]\(pictures\/([a-z-]+)\.webp\)/g)].map(([, name = '']) => name);
    assert.deepEqual(shown, [...new Set(shown)]);
    const views = pagePaths.filter((path) => !path.includes(':')).map((path) => path.split('/')[2] ?? 'overview');
    assert.deepEqual(
      views.filter((view) => !shown.includes(view)),
      [],
    );
    const stored = globSync('*.webp', { cwd: pictures }).map((file) => file.replace('.webp', ''));
    assert.deepEqual(new Set([...shown, 'overview-dark']), new Set(stored));
  });
});
