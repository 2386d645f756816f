import type { Json, JsonObject } from '#shared/json/json.ts';

const strict = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = { type: 'string' };
const step = strict({ explanation: text, output: text });

/** The schemas that the examples of the SDKs' structured outputs and of their tools send, by the example. */
export const structuredOutputs: Readonly<Record<string, Json>> = {
  'the steps of an equation': strict({ steps: { type: 'array', items: step }, final_answer: text }),
  'the steps of an equation, by pydantic': strict(
    {
      steps: { items: { $ref: '#/$defs/Step' }, title: 'Steps', type: 'array' },
      final_answer: { title: 'Final Answer', type: 'string' },
    },
    { title: 'MathResponse', $defs: { Step: { title: 'Step', ...step } } },
  ),
  'an event of a calendar': strict({ name: text, date: text, participants: { type: 'array', items: text } }),
  'a research paper': strict({
    title: text,
    authors: { type: 'array', items: text },
    abstract: text,
    keywords: { type: 'array', items: text },
  }),
  'a user interface of itself': {
    ...strict({
      type: { type: 'string', enum: ['div', 'button', 'header', 'section', 'field', 'form'] },
      label: { type: 'string', description: 'Used for buttons or form fields' },
      children: { type: 'array', items: { $ref: '#' } },
      attributes: { type: 'array', items: { $ref: '#/$defs/attribute' } },
    }),
    $defs: { attribute: strict({ name: text, value: text }) },
  },
  'a user interface of itself, by zod': {
    $ref: '#/definitions/ui',
    definitions: {
      ui: strict({
        type: { type: 'string', enum: ['div', 'button'] },
        label: text,
        children: { type: 'array', items: { $ref: '#/definitions/ui' } },
        attributes: { type: 'array', items: { $ref: '#/definitions/ui_attributes_items' } },
      }),
      ui_attributes_items: strict({ name: text, value: text }),
    },
  },
  'a linked list': strict(
    { linked_list: { $ref: '#/$defs/node' } },
    {
      $defs: {
        node: strict({ value: { type: 'number' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }),
      },
    },
  ),
  moderation: strict({
    is_violating: { type: 'boolean' },
    category: { type: ['string', 'null'], enum: ['violence', 'sexual', 'self_harm', null] },
    explanation_if_violating: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  }),
  'a user or an address': strict({
    item: {
      anyOf: [
        strict({ name: text, age: { type: 'number', minimum: 0, maximum: 130 } }),
        strict({ number: text, street: text, city: text }),
      ],
    },
  }),
  'a query of a table': strict(
    {
      table_name: { $ref: '#/$defs/Table' },
      columns: { items: { $ref: '#/$defs/Column' }, type: 'array' },
      conditions: { items: { $ref: '#/$defs/Condition' }, type: 'array' },
      order_by: { $ref: '#/$defs/OrderBy', description: 'The order of the rows' },
    },
    {
      $defs: {
        Table: { enum: ['orders', 'customers', 'products'], title: 'Table', type: 'string' },
        Column: { enum: ['id', 'status', 'expected_delivery_date'], title: 'Column', type: 'string' },
        Operator: { enum: ['=', '>', '<', '<=', '>=', '!='], type: 'string' },
        OrderBy: { enum: ['asc', 'desc'], type: 'string' },
        DynamicValue: strict({ column_name: text }),
        Condition: strict({
          column: text,
          operator: { $ref: '#/$defs/Operator' },
          value: { anyOf: [{ type: 'string' }, { type: 'integer' }, { $ref: '#/$defs/DynamicValue' }] },
        }),
      },
    },
  ),
  'a recipe': strict({
    recipe: strict({
      name: text,
      ingredients: { type: 'array', items: strict({ name: text, amount: text }) },
      steps: { type: 'array', items: text },
    }),
  }),
  'an array of elements': strict({
    elements: { type: 'array', items: strict({ name: text, class: { type: 'string', description: 'Warrior, mage' } }) },
  }),
  'one of several words': strict({ result: { type: 'string', enum: ['action', 'comedy', 'drama'] } }),
  'the weather, as a tool': {
    type: 'object',
    properties: {
      location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
      days: { type: 'integer', exclusiveMinimum: 0 },
    },
    required: ['location'],
  },
};
