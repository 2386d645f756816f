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
import packageJson from '../../package.json' with { type: 'json' };

const image = `switchyard:${packageJson.version}`;

describe('compose files', () => {
  it('have the nodes that they should', () => {
    assert.deepEqual(
      nodes.map(([name]) => name),
      ['switchyard', 'control-plane', 'gateway', 'projector'],
    );
  });

  for (const [name, service] of nodes) {
    describe(name, () => {
      it('is told only what it knows', () => {
        const told = environmentOf(service);
        const asked = new Set<string>();
        const watched = new Proxy(told, {
          get: (target, variable) => {
            asked.add(String(variable));
            return target[String(variable)];
          },
        });
        readConfig(watched);
        assert.deepEqual(
          Object.keys(told).filter((variable) => !asked.has(variable)),
          [],
        );
      });

      it('runs the image of this version, with volumes of its own for data and spools, and time to stop', () => {
        assert.equal(service.image, image);
        const folders = nodes
          .flatMap(([, { volumes = [] }]) => volumes)
          .filter((volume) => service.volumes?.includes(volume));
        assert.equal(folders.length, 2);
        assert.match(folders[0] ?? '', /:\/data$/);
        assert.match(folders[1] ?? '', /:\/spool$/);
        assert.equal(service.read_only, true);
        const { limits } = readConfig(environmentOf(service));
        assert.ok(seconds(service.stop_grace_period) * 1000 > limits.stopMilliseconds);
      });
    });
  }

  it('split the roles among the further nodes', () => {
    const rolesOf = (service: ComposeService | undefined) =>
      service === undefined ? [] : [...readConfig(environmentOf(service)).roles];
    assert.deepEqual(rolesOf(base.switchyard), ['control-plane', 'gateway', 'projections']);
    assert.deepEqual(rolesOf(further['control-plane']), ['control-plane']);
    assert.deepEqual(rolesOf(further.gateway), ['gateway']);
    assert.deepEqual(rolesOf(further.projector), ['projections']);
  });

  it('let the proxy listen where its health is looked at and its port is published', () => {
    assert.match(readFileSync('deployment/Caddyfile', 'utf8'), /^:\{\$PORT:8080\} \{$/m);
    assert.deepEqual(further.proxy?.ports, base.switchyard?.ports);
    assert.deepEqual(further.switchyard?.ports, []);
  });

  for (const [name, service] of services) {
    it(`keep ${name} small: no root, no privileges, a limit, a pinned image, no port for strangers`, () => {
      assert.match(service.image ?? '', /:\d+\.\d+\.\d+(-[\w.-]+)?$/);
      // The image of the nodes names its user itself.
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
