import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { print } from '../measure.ts';

/** Installs the packages of the yardsticks beside this file, unless a package is installed already. */
export function installYardsticks(wanted: string): void {
  const folder = import.meta.dirname;
  if (existsSync(join(folder, 'node_modules', wanted))) return;
  print(`Installing ${wanted} and the other yardsticks (once; native parts may be compiled) …`);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder], { stdio: 'pipe', timeout: 600_000 });
}
