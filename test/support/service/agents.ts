import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { long } from '#test/support/run/long.ts';
import { skipOptionalSuite } from '#test/support/run/skipped-suites.ts';

/** An agent that `.ci/<name>` installs. */
export interface Agent {
  readonly title: string;
  readonly version: string;
  readonly program: string;
}

const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');

function agentOf(title: string, name: string): Agent {
  const installer = readFileSync(join(import.meta.dirname, '../../../.ci', name), 'utf8');
  const [, folder, version = '', , path = ''] = /install-agent" (\S+) (\S+) (\S+) (\S+)$/m.exec(installer) ?? [];
  const own = process.env[name.replace('-', '_').toUpperCase()];
  return { title, version, program: own || join(caches, `switchyard/${folder}-${version}/node_modules`, path) };
}

/** Each can be another program: a variable names it, such as `CLAUDE_CODE`. */
export const agents = {
  claudeCode: agentOf('Claude Code', 'claude-code'),
  codex: agentOf('Codex', 'codex'),
  openCode: agentOf('OpenCode', 'opencode'),
  cline: agentOf('Cline', 'cline'),
};

/** Describes a suite that runs an agent, in the long run. The suite is skipped where the agent is not installed. */
export function describeWithAgent({ title, program }: Agent, suite: (this: Mocha.Suite) => void): void {
  const ofLongRun = `${title} ${long}`;
  if (existsSync(program)) describe(ofLongRun, suite);
  else skipOptionalSuite(ofLongRun, `run .ci/${title.toLowerCase().replace(' ', '-')}`);
}

/** The environment of an agent whose home is this folder. It reaches no other host: nothing listens at the proxy. */
export function agentEnvironment(home: string): NodeJS.ProcessEnv {
  const nowhere = 'http://127.0.0.1:9';
  return { PATH: process.env.PATH, HOME: home, HTTPS_PROXY: nowhere, HTTP_PROXY: nowhere, NO_PROXY: '127.0.0.1' };
}
