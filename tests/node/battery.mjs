// One connection of the official TypeScript client over stdio, which uses everything that a server offers. Read from
// stdin: {mode, command, env, tools}, with the arguments of each tool. Written to stdout: the outcome of each
// interaction by name, and what the client has heard meanwhile.
import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';

// Packages are looked for where this is run, which is where npm put them.
const require = createRequire(`${process.cwd()}/`);
const { Client } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const MODES = { legacy: 'legacy', auto: 'auto', '2026-07-28': { pin: '2026-07-28' } };
const HEARD = ['message', 'tools/list_changed', 'prompts/list_changed', 'resources/list_changed', 'resources/updated'];

const { mode, command, env, tools } = JSON.parse(await text(process.stdin));
const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const client = new Client(
  { name: 'toolbooth-tests', version: '1' },
  { capabilities, versionNegotiation: { mode: MODES[mode] } },
);

const outcomes = {};
const heard = [];
const changes = new EventEmitter();

client.setRequestHandler('sampling/createMessage', async ({ params }) => {
  heard.push({ sampling: params.messages });
  return { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'test' };
});
client.setRequestHandler('elicitation/create', async ({ params }) => {
  heard.push({ elicitation: params.message });
  return { action: 'accept', content: { name: 'Ann' } };
});
client.setRequestHandler('roots/list', async () => {
  heard.push('roots');
  return { roots: [{ uri: 'file:///srv', name: 'srv' }] };
});
for (const name of HEARD) {
  client.setNotificationHandler(`notifications/${name}`, ({ params }) => {
    heard.push({ name, params });
    changes.emit(name);
  });
}

async function listen() {
  const subscription = await client.listen({ toolsListChanged: true });
  const change = once(changes, 'tools/list_changed');
  await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
  await change;
  await subscription.close();
  return [subscription.honoredFilter, await subscription.closed];
}

async function record(name, interaction) {
  try {
    outcomes[name] = { result: await interaction() };
  } catch ({ code, message, data }) {
    outcomes[name] = { error: { code, message, data } };
  }
}

const [program, ...args] = command;
await client.connect(new StdioClientTransport({ command: program, args, env, stderr: 'ignore' }));
outcomes.server = {
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
};

const interactions = {
  ping: () => client.ping(),
  level: () => client.setLoggingLevel('debug'),
  'list of tools': async () => (await client.listTools()).tools.map(({ name }) => name),
  // Without progress: this client loses notifications that arrive just before the answer, also without a proxy.
  ...Object.fromEntries(
    Object.entries(tools).map(([name, sent]) => [name, () => client.callTool({ name, arguments: sent })]),
  ),
  'unknown tool': () => client.callTool({ name: 'none', arguments: {} }),
  listen,
  resources: () => client.listResources(),
  templates: () => client.listResourceTemplates(),
  text: () => client.readResource({ uri: 'test://static-text' }),
  binary: () => client.readResource({ uri: 'test://static-binary' }),
  template: () => client.readResource({ uri: 'test://template/123/data' }),
  'unknown resource': () => client.readResource({ uri: 'test://none' }),
  subscribe: () => client.subscribeResource({ uri: 'test://watched-resource' }),
  unsubscribe: () => client.unsubscribeResource({ uri: 'test://watched-resource' }),
  prompts: () => client.listPrompts(),
  prompt: () => client.getPrompt({ name: 'test_simple_prompt' }),
  arguments: () => client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } }),
  picture: () => client.getPrompt({ name: 'test_prompt_with_image' }),
  'asking prompt': () => client.getPrompt({ name: 'test_input_required_result_prompt' }),
  'unknown prompt': () => client.getPrompt({ name: 'none' }),
  completion: () =>
    client.complete({
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'par' },
    }),
  roots: () => client.sendRootsListChanged(),
};
for (const [name, interaction] of Object.entries(interactions)) await record(name, interaction);
await client.close();
console.log(JSON.stringify({ outcomes, heard }));
