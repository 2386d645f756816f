import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readConfig } from '#app/config.ts';
import {
  base,
  type ComposeService,
  environmentOf,
  further,
  nodes,
  services,
} from '#test/support/service/compose-files.ts';
import { maxMainHeapMb } from '#test/support/service/main-heap.ts';
import packageJson from '../../package.json' with { type: 'json' };

const image = `switchyard:${packageJson.version}`;

describe('compose files', () => {
  it('defines the expected nodes', () => {
    assert.deepEqual(
      nodes.map(([name]) => name),
      ['switchyard', 'control-plane', 'gateway', 'projector'],
    );
  });

  for (const [name, service] of nodes) {
    describe(name, () => {
      it(`sets only environment variables that ${name} reads`, () => {
        const environment = environmentOf(service);
        const asked = new Set<string>();
        const watched = new Proxy(environment, {
          get: (target, variable) => {
            asked.add(String(variable));
            return target[String(variable)];
          },
        });
        readConfig(watched);
        assert.deepEqual(
          Object.keys(environment).filter((variable) => !asked.has(variable)),
          [],
        );
      });

      it(`runs ${name} with this version’s image, its own volumes for data and spools, and time to stop`, () => {
        assert.equal(service.image, image);
        const folders = nodes
          .flatMap(([, { volumes = [] }]) => volumes)
          .filter((volume) => service.volumes?.includes(volume));
        assert.equal(folders.length, 2);
        assert.match(folders[0] ?? '', /:\/data$/);
        assert.match(folders[1] ?? '', /:\/spool$/);
        assert.equal(service.read_only, true);
        const { limits } = readConfig(environmentOf(service));
        assert.ok(seconds(service.stop_grace_period) * 1000 > limits.stopTimeoutMs);
      });

      it(`gives ${name} more memory than the heap of its main thread may take`, () => {
        const [, gibibytes] = /^(\d+)g$/.exec(service.mem_limit ?? '') ?? [];
        assert.ok(Number(gibibytes) * 1024 > maxMainHeapMb, service.mem_limit);
      });
    });
  }

  it('assigns each role to one of the further nodes', () => {
    const rolesOf = (service: ComposeService | undefined) =>
      service === undefined ? [] : [...readConfig(environmentOf(service)).roles];
    assert.deepEqual(rolesOf(base.switchyard), ['control-plane', 'gateway', 'projections']);
    assert.deepEqual(rolesOf(further['control-plane']), ['control-plane']);
    assert.deepEqual(rolesOf(further.gateway), ['gateway']);
    assert.deepEqual(rolesOf(further.projector), ['projections']);
  });

  it('publishes the proxy’s port instead of a node’s, where its health check expects it', () => {
    assert.match(readFileSync('deployment/Caddyfile', 'utf8'), /^:\{\$PORT:8080\} \{$/m);
    assert.deepEqual(further.proxy?.ports, base.switchyard?.ports);
    assert.deepEqual(further.switchyard?.ports, []);
  });

  it('runs a MongoDB of 8.0.24 or later', () => {
    const [, version = ''] = /^mongo:(\S+)$/.exec(base.mongodb?.image ?? '') ?? [];
    assert.ok(version.localeCompare('8.0.24', 'en', { numeric: true }) >= 0, version);
  });

  for (const [name, service] of services) {
    it(`restricts ${name}: no root, no privileges, a memory limit, a pinned image, no public port`, () => {
      assert.match(service.image ?? '', /:\d+\.\d+\.\d+(-[\w.-]+)?$/);
      // The image of the nodes sets its own user.
      if (!nodes.some(([node]) => node === name)) assert.match(service.user ?? '', /^[1-9]\d*:[1-9]\d*$/);
      assert.notEqual(service.privileged, true);
      assert.deepEqual(service.cap_drop, ['ALL']);
      assert.match(service.mem_limit ?? '', /^\d+[mg]$/);
      assert.equal(service.restart, 'unless-stopped');
      for (const port of service.ports ?? []) assert.match(port, /^\$\{SWITCHYARD_ADDRESS:-127\.0\.0\.1\}:/);
    });
  }
});

function seconds(period: string | undefined): number {
  const [, count] = /^(\d+)s$/.exec(period ?? '') ?? [];
  return Number(count);
}
