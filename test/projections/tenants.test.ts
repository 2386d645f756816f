import assert from 'node:assert/strict';
import { hashKey, storedFormOfKey } from '#domain/api-key/secret.ts';
import { newEvent } from '#domain/shared/event.ts';
import { apiKeyOrigins } from '#projections/access/api-key-origins.ts';
import { apiKeySecrets } from '#projections/access/api-key-secrets.ts';
import { apiKeys } from '#projections/access/api-keys.ts';
import { customers } from '#projections/access/customers.ts';
import { organizations } from '#projections/access/organizations.ts';
import { projects } from '#projections/access/projects.ts';
import {
  apiKeyCreated,
  apiKeyRevoked,
  apiKeyRotated,
  customerCreated,
  firstSecret,
  organizationCreated,
  personalDataErased,
  projectCreated,
  sealed,
} from '#test/support/events/tenant-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { timeOf } from '#test/support/harness/recorded-events.ts';

const secondSecret = `sy_live_${'S2n'.repeat(14)}d`;
const rotated = apiKeyRotated(secondSecret, { previousValidUntil: timeOf(600), expiresAt: timeOf(9000) });
const stream = `apiKey-${ids.key}`;

describe('organizations projection', () => {
  it('shows every organization', () => {
    const times = { createdAt: timeOf(0), updatedAt: timeOf(0) };
    assert.deepEqual(projectStreams(organizations, { [`organization-${ids.partner}`]: [organizationCreated()] }), {
      [ids.partner]: {
        ...tenants.project,
        revision: 0,
        ...organizationCreated().data,
        ...times,
      },
    });
  });

  it('shows the organization of a customer with its name sealed, until it is erased', () => {
    const stream = `organization-${ids.customer}`;
    const document = { id: ids.customer, name: sealed.name, partner: false };
    const begun = { createdAt: timeOf(0), updatedAt: timeOf(0) };
    assert.deepEqual(projectStreams(organizations, { [stream]: [customerCreated()] }), {
      [ids.customer]: { ...tenants.project, revision: 0, ...document, ...begun },
    });
    assert.deepEqual(projectStreams(organizations, { [stream]: [customerCreated(), personalDataErased()] }), {
      [ids.customer]: {
        ...tenants.project,
        revision: 1,
        ...document,
        ...begun,
        name: 'erased',
        updatedAt: timeOf(1),
      },
    });
  });
});

describe('customers projection', () => {
  const stream = `organization-${ids.customer}`;
  const record = {
    organizationId: ids.customer,
    projectId: ids.customerProject,
    ...sealed,
    personalDataErasedAt: null,
    createdAt: timeOf(0),
    updatedAt: timeOf(0),
  };

  it('shows customers with their texts sealed, and no other organization', () => {
    const other = { [`organization-${ids.partner}`]: [organizationCreated()] };
    assert.deepEqual(projectStreams(customers, { [stream]: [customerCreated()], ...other }), {
      [ids.customer]: { ...tenants.project, revision: 0, record },
    });
  });

  it('keeps no erased text of a customer, not even sealed', () => {
    const erased = { name: 'erased', clientEmail: 'erased', personalDataErasedAt: timeOf(1), updatedAt: timeOf(1) };
    assert.deepEqual(projectStreams(customers, { [stream]: [customerCreated(), personalDataErased()] }), {
      [ids.customer]: { ...tenants.project, revision: 1, record: { ...record, ...erased } },
    });
  });
});

describe('projects projection', () => {
  it('shows every project with its newest name', () => {
    const renamed = newEvent('ProjectRenamed', { name: 'Nights' });
    const record = { ...projectCreated().data, name: 'Nights', createdAt: timeOf(0), updatedAt: timeOf(1) };
    assert.deepEqual(projectStreams(projects, { [`project-${ids.project}`]: [projectCreated(), renamed] }), {
      [ids.project]: { ...tenants.project, revision: 1, record },
    });
  });
});

describe('API keys projection', () => {
  it('shows an API key without its secret, rotated or not, until it is revoked', () => {
    const { secretHash: _, ...contents } = apiKeyCreated().data;
    const record = { ...contents, createdAt: timeOf(0), updatedAt: timeOf(0) };
    assert.deepEqual(projectStreams(apiKeys, { [stream]: [apiKeyCreated()] }), {
      [ids.key]: { ...tenants.project, revision: 0, record },
    });
    const { prefix } = storedFormOfKey(secondSecret);
    assert.deepEqual(projectStreams(apiKeys, { [stream]: [apiKeyCreated(), rotated] }), {
      [ids.key]: {
        ...tenants.project,
        revision: 1,
        record: { ...record, prefix, expiresAt: timeOf(9000), updatedAt: timeOf(1) },
      },
    });
    assert.deepEqual(projectStreams(apiKeys, { [stream]: [apiKeyCreated(), rotated, apiKeyRevoked()] }), {});
  });
});

describe('API key secrets projection', () => {
  const first = hashKey(firstSecret);
  const second = hashKey(secondSecret);

  it('finds an API key by the hash of each secret that it ever had', () => {
    assert.deepEqual(projectStreams(apiKeySecrets, { [stream]: [apiKeyCreated(), rotated] }), {
      [first]: { keyId: ids.key },
      [second]: { keyId: ids.key },
    });
  });

  it('finds no revoked API key by any of its secrets, and keeps the secrets of other keys', () => {
    const other = { [hashKey(secondSecret)]: { keyId: 'ckeytwo000000001' } };
    const streams = {
      'apiKey-ckeytwo000000001': [apiKeyCreated({ id: 'ckeytwo000000001', ...storedFormOfKey(secondSecret) })],
      [stream]: [apiKeyCreated(), apiKeyRevoked()],
    };
    assert.deepEqual(projectStreams(apiKeySecrets, streams), other);
    assert.deepEqual(projectStreams(apiKeySecrets, { [stream]: [apiKeyCreated(), rotated, apiKeyRevoked()] }), {});
  });
});

describe('API key origins projection', () => {
  const maker = 'ckeymaker0000001';
  const rotator = 'ckeyrotator00001';

  it('shows which keys created and rotated an API key, even after it was revoked', () => {
    const events = [
      apiKeyCreated({ createdByKeyId: maker }),
      apiKeyRotated(secondSecret, { rotatedByKeyId: rotator }),
      apiKeyRevoked(),
    ];
    assert.deepEqual(projectStreams(apiKeyOrigins, { [stream]: events }), {
      [`${maker}.${ids.key}`]: { keyId: ids.key, byKeyId: maker },
      [`${rotator}.${ids.key}`]: { keyId: ids.key, byKeyId: rotator },
    });
  });

  it('shows no origin of an API key that no key created and that rotated itself', () => {
    const events = [apiKeyCreated(), apiKeyRotated(secondSecret, { rotatedByKeyId: ids.key })];
    assert.deepEqual(projectStreams(apiKeyOrigins, { [stream]: events }), {});
  });
});
