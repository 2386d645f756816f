import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { print } from './measure.ts';

/** Installs the packages of a folder of benchmarks, unless this one is installed already. */
export function installPackages(folder: string, wanted: string): void {
  if (existsSync(join(folder, 'node_modules', wanted))) return;
  print(`Installing ${wanted} and what else ${folder} names (once; native parts may be compiled) …`);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder], { stdio: 'pipe', timeout: 600_000 });
}
