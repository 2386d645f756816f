import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { skipOptionalSuite } from '#test/support/run/skipped-suites.ts';

/** Debian's program (`apt-get install chromium`), or the one that `CHROMIUM` names. */
const chromiumProgram = process.env.CHROMIUM || '/usr/bin/chromium';

/** Starts the browser. The caller closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumProgram, args: ['--no-sandbox'] });
}

const suiteTestMs = 300_000;

/** Describes a suite that needs a browser. The suite is skipped when the program is missing. */
export function describeInBrowser(suite: string, define: () => void): void {
  if (existsSync(chromiumProgram))
    describe(suite, function () {
      this.timeout(suiteTestMs);
      define();
    });
  else skipOptionalSuite(suite, 'install chromium, or set CHROMIUM');
}
