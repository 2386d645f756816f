/** Believable records for the documentation: one story, told once. */

const id = {
  organization: 'cq4m1x0tz8d2k6v9w3b5n7p1',
  customer: 'cu6d0v4z8n2b7w1k5x9m3q7t',
  customerProject: 'cr9t3q7x1m5k0z4v8d2n6b0w',
  project: 'cw2k8d0xq5m9t1v4z7b3n6p8',
  flow: 'cz7t3m1kx0q4v8d2w6b9n5p0',
  phoneNumber: 'cb5n9p3w7q1x0m4t8k2d6v1z',
  integrationTemplate: 'ci1p5d9w3b7q0x4m8t2k6v1z',
  template: 'ct6w0b4n8p2z7x1m5q9v3d2k',
  apiKey: 'ck8d2v6z0x4q9m3t7w1b5n2p',
  store: 'cs3w7b1n5p9z0x4q8m2t6d1v',
  instance: 'cn4x8q2m6t0v3z7b1d5w9k2p',
} as const;

const times = { createdAt: '2026-01-05T09:30:00.000Z', updatedAt: '2026-01-05T09:30:00.000Z' } as const;

const flowSchema = { start: 'greet', nodes: { greet: { say: 'Good morning, front desk.', next: null } } } as const;

const agentProfileContents = {
  name: 'Receptionist',
  isDefault: true,
  supportedInputLanguages: ['en', 'de'],
  reasoningMode: 'balanced',
  outputVoiceId: 'narrator',
  flowIds: [id.flow],
} as const;

const templateContents = {
  payload: {
    flows: [
      {
        key: 'welcome',
        name: 'Welcome',
        flowType: 'simple',
        flowSchema: { start: 'greet', nodes: { greet: { say: 'Welcome to {{fields.practice_name}}.', next: null } } },
      },
    ],
    agentProfile: {
      name: 'Receptionist',
      reasoningMode: 'balanced',
      supportedInputLanguages: ['en', 'de'],
      outputVoiceId: 'narrator',
    },
    knowledgeBases: [{ key: 'faq', name: 'Questions and answers', description: 'What patients ask most' }],
    integrations: [{ integrationTemplateId: id.integrationTemplate }],
    phoneNumberRequirements: [{ key: 'main', label: 'Main line', description: 'Where patients call' }],
  },
  fieldsSchema: [
    { key: 'practice_name', label: 'Name of the practice', type: 'string', required: true },
    {
      key: 'max_minutes',
      label: 'Longest call in minutes',
      type: 'number',
      required: false,
      defaultValue: '10',
      helpText: 'Longer calls are handed over',
    },
  ],
} as const;

const customer = {
  organizationId: id.customer,
  projectId: id.customerProject,
  name: 'Harbour Dental',
  clientEmail: 'office@harbour-dental.example',
  personalDataErasedAt: null,
  ...times,
} as const;

const erasure = '2026-03-02T16:05:00.000Z';

export const examples = {
  organization: { id: id.organization, name: 'Northwind Voice', partner: true, ...times },
  customer,
  erasedCustomer: {
    ...customer,
    name: 'erased',
    clientEmail: 'erased',
    personalDataErasedAt: erasure,
    updatedAt: erasure,
  },
  project: { id: id.project, organizationId: id.organization, name: 'Front desk', ...times },
  flowSchema,
  flow: {
    id: id.flow,
    projectId: id.project,
    name: 'Opening hours',
    type: 'simple',
    description: 'Answers when the desk is closed',
    tier: 'standard',
    agentProfileId: null,
    ...times,
  },
  flowVersion: {
    id: `${id.flow}1x0q4v8d`,
    flowId: id.flow,
    version: 1,
    tag: 'v1',
    flowSchema,
    isActive: true,
    ...times,
  },
  phoneNumber: {
    id: id.phoneNumber,
    projectId: id.project,
    type: 'platform',
    name: 'Reception',
    number: '+442071838750',
    status: 'disabled',
    flowId: id.flow,
    externalPhoneFields: null,
    ...times,
  },
  agentProfileContents,
  agentProfile: { id: `${id.project}7w1b5n2p`, projectId: id.project, ...agentProfileContents, ...times },
  template: {
    id: id.template,
    headlessIntegratorId: id.organization,
    name: 'Dental practice',
    description: 'Front desk of a practice',
    status: 'draft',
    ...times,
  },
  templateContents,
  templateVersion: {
    id: `${id.template}5q9v3d2k`,
    templateId: id.template,
    version: 1,
    tag: 'spring',
    ...templateContents,
    publishedAt: null,
    ...times,
  },
  instance: {
    id: id.instance,
    templateId: id.template,
    templateVersionId: `${id.template}5q9v3d2k`,
    organizationId: id.organization,
    projectId: id.project,
    name: 'Dr. Weber',
    fieldValues: { practice_name: 'Dr. Weber', max_minutes: '10' },
    status: 'active',
    resources: {
      flows: [{ key: 'welcome', flowId: id.flow, flowVersionId: `${id.flow}1x0q4v8d` }],
      agentProfileId: `${id.project}7w1b5n2p`,
      stores: [{ key: 'faq', storeId: id.store }],
    },
    phoneNumberRequirements: [{ key: 'main', label: 'Main line', phoneNumberId: null }],
    operation: null,
    lastOperation: {
      number: 1,
      kind: 'provision',
      templateVersionId: `${id.template}5q9v3d2k`,
      outcome: 'succeeded',
      reason: null,
      startedAt: '2026-01-05T09:30:00.000Z',
      endedAt: '2026-01-05T09:30:00.120Z',
    },
    ...times,
  },
  store: {
    id: id.store,
    name: 'House rules',
    description: 'What guests ask most',
    status: 'ready',
    ...times,
  },
  apiKey: {
    id: id.apiKey,
    projectId: id.project,
    organizationId: id.organization,
    name: 'Website',
    keyType: 'project',
    scopes: ['flows:read', 'flows:write'],
    prefix: 'sy_live_7Qm2',
    createdByKeyId: null,
    expiresAt: null,
    lastUsedAt: null,
    ...times,
  },
} as const;
