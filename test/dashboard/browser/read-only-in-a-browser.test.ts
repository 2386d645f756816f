import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import { adminKey, type ServiceProcess, startService, temporaryFolder } from '#test/support/service/service-process.ts';
import { assertAccessible, assertNotWider, openDashboard, screens, settled } from './open-dashboard.ts';

const replayTool = join(import.meta.dirname, '../../../src/cli/replay.ts');

describeInBrowser('dashboard of a read-only service in a browser @long', () => {
  const folder = temporaryFolder();
  let past: ServiceProcess;
  let browser: Browser;

  before(async () => {
    const dataDir = join(folder.path, 'data');
    const service = await startService({ dataDir });
    await service.stop();
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, DATA_DIR: dataDir };
    const words = [replayTool, '--until', '2', '--into', join(folder.path, 'past')];
    await promisify(execFile)(process.execPath, words, { env });
    const environment = { READ_ONLY: 'true', EVENT_STORE_URL: `sqlite:${join(dataDir, 'events.db')}` };
    [past, browser] = await Promise.all([
      startService({ dataDir: join(folder.path, 'past'), environment }),
      launchBrowser(),
    ]);
  });
  after(async () => {
    await browser?.close();
    await past?.kill();
    folder.remove();
  });

  for (const { name, options } of screens) {
    it(`names the moment that it shows, and polls (${name})`, async () => {
      const { page, complaints, close } = await openDashboard(browser, past.url, adminKey, options);
      await settled(page);
      await page.getByText(/This service only answers reads, as of \S+Z \(position 2\)/).waitFor();
      await page.locator('.live b', { hasText: 'Polling' }).waitFor();
      await assertNotWider(page, name);
      await assertAccessible(page, name);
      assert.deepEqual(complaints, []);
      await close();
    });
  }
});
