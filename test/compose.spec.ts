import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join, posix } from 'node:path';
import ipaddr from 'ipaddr.js';
import { parse } from 'yaml';
import { repositoryRoot } from '#libs/testing';

// There is no Docker engine where the tests run, so nothing here is started: the files are compared with one another and with the code.

const read = (file: string): string => readFileSync(join(repositoryRoot, file), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address: string }>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: {
    readonly edge: { readonly ipam: { readonly config: readonly [{ readonly subnet: string; readonly ip_range: string }] } };
  };
}
interface Edge {
  readonly trustedProxies: readonly string[];
  readonly identity: { readonly apiKeys: { readonly file: string } };
  readonly upstreams: Readonly<Record<string, { readonly url: string }>>;
  readonly routes: readonly unknown[];
  readonly local: { readonly gateways: number };
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const { services } = compose;
const edge = parse(read('deploy/edge.yaml')) as Edge;
const dockerfile = read('Dockerfile');
const nginx = read('deploy/nginx.conf').replace(/#.*$/gm, '');

const gateways = Object.entries(services).filter(([name]) => name.startsWith('gateway-'));
const gatewayNames = gateways.map(([name]) => name);
const own = Object.entries(services).filter(([, { build }]) => build !== undefined);

/** The names an app's env class reads, with the defaults that are plain numbers. */
function envNames(file: string): Map<string, number | undefined> {
  const properties = read(file).matchAll(/^ {2}([A-Z][A-Z0-9_]*)(?:\?)?(?:: [^=;]+)?(?: = ([^;]+))?;/gm);
  return new Map([...properties].map(([, name = '', value]) => [name, /^\d+$/.test(value ?? '') ? Number(value) : undefined]));
}

/** Where a path inside a container comes from on the host, by the service's volumes. */
function hostPath(service: Service, path: string): string | undefined {
  for (const volume of service.volumes ?? []) {
    const [from = '', to = ''] = volume.split(':');
    if (path === to || path.startsWith(`${to}/`)) return posix.join(from, path.slice(to.length));
  }
  return undefined;
}

describe('docker-compose.yml', () => {
  it('runs two gateways, each with a name of its own and otherwise alike', () => {
    expect(gatewayNames).toEqual(['gateway-1', 'gateway-2']);
    expect(gateways.map(([, { environment }]) => environment?.GATEWAY_ID)).toEqual(gatewayNames);
    const alike = gateways.map(([, service]) => ({ ...service, ports: [], environment: { ...service.environment, GATEWAY_ID: '' } }));
    expect(alike[1]).toEqual(alike[0]);
  });

  it('sets only variables that the apps read', () => {
    const gatewayEnv = envNames('apps/gateway/src/gateway.env.ts');
    const demoEnv = envNames('apps/demo-backends/src/demo-backends.env.ts');
    expect([...gatewayEnv.keys()]).toEqual(expect.arrayContaining(['HOST', 'PORT', 'ADMIN_PORT', 'REDIS_URL']));
    for (const [, { environment = {} }] of gateways)
      expect([...gatewayEnv.keys()]).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect([...demoEnv.keys()].sort()).toEqual(Object.keys(services['demo-backends']?.environment ?? {}).sort());
  });

  it('uses the ports that are the defaults of the code', () => {
    const gatewayEnv = envNames('apps/gateway/src/gateway.env.ts');
    const demoEnv = envNames('apps/demo-backends/src/demo-backends.env.ts');
    for (const [, { environment }] of gateways) {
      expect([environment?.PORT, environment?.ADMIN_PORT]).toEqual([gatewayEnv.get('PORT'), gatewayEnv.get('ADMIN_PORT')].map(String));
    }
    const demo = services['demo-backends']?.environment;
    expect([demo?.ORDERS_PORT, demo?.SEARCH_PORT]).toEqual([demoEnv.get('ORDERS_PORT'), demoEnv.get('SEARCH_PORT')].map(String));
  });

  it('listens on all interfaces of a container, and takes secrets from outside only', () => {
    for (const [, { environment }] of own) expect(environment?.HOST).toBe('0.0.0.0');
    for (const [, { environment }] of gateways) {
      expect(environment?.ADMIN_TOKEN).toMatch(/^\$\{ADMIN_TOKEN:\?/);
      expect(environment?.API_KEY_PEPPER).toMatch(/^\$\{API_KEY_PEPPER:\?/);
    }
  });

  it('publishes the load balancer, and the admin ports to the host alone', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([
      ['nginx', '8080:8080'],
      ['gateway-1', '127.0.0.1:9091:9090'],
      ['gateway-2', '127.0.0.1:9092:9090'],
    ]);
    expect(nginx).toMatch(/^\s*listen 8080;/m);
  });

  it('keeps nothing in Redis over a restart and evicts nothing', () => {
    const { image, command = [] } = services.redis!;
    expect(image).toMatch(/^redis:7\b/);
    expect(command.join(' ')).toMatch(/--save {2}--appendonly no .*--maxmemory-policy noeviction$/);
    for (const [, { environment }] of gateways) expect(environment?.REDIS_URL).toBe('redis://redis:6379');
  });

  it('mounts and names files that exist', () => {
    for (const { volumes = [] } of Object.values(services)) {
      for (const volume of volumes) expect([volume, existsSync(join(repositoryRoot, volume.split(':')[0]!))]).toEqual([volume, true]);
    }
    for (const [, service] of gateways) {
      const { EDGE_CONFIG = '', LIMITS_SOURCE = '' } = service.environment ?? {};
      expect([EDGE_CONFIG, LIMITS_SOURCE].map((path) => hostPath(service, path))).toEqual(['deploy/edge.yaml', 'config/limits.yaml']);
      const keyFile = posix.resolve(dirname(EDGE_CONFIG), edge.identity.apiKeys.file);
      expect(hostPath(service, keyFile)).toBe('config/api-keys.yaml');
    }
    expect(existsSync(join(repositoryRoot, 'config/limits.yaml'))).toBe(true);
  });

  it('waits for services it has, and for those with a check only', () => {
    for (const { depends_on = {} } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        expect(condition).toBe('service_healthy');
        expect(services[name]!.healthcheck !== undefined || gatewayNames.includes(name)).toBe(true);
      }
    }
  });
});

describe('deploy/edge.yaml', () => {
  it('has the routes of the sample document', () => {
    const sample = parse(read('config/edge.yaml')) as Edge;
    expect(edge.routes).toEqual(sample.routes);
    expect(Object.keys(edge.upstreams).sort()).toEqual(Object.keys(sample.upstreams).sort());
    expect(edge.local.gateways).toBe(gateways.length);
  });

  it('sends to the demo backends by their name and ports', () => {
    const demo = services['demo-backends']?.environment;
    expect(edge.upstreams.orders?.url).toBe(`http://demo-backends:${demo?.ORDERS_PORT ?? ''}`);
    expect(edge.upstreams.search?.url).toBe(`http://demo-backends:${demo?.SEARCH_PORT ?? ''}`);
  });

  it('believes nginx and nobody else on the network', () => {
    const networks = services.nginx?.networks as Readonly<Record<string, { readonly ipv4_address: string }>>;
    const address = networks.edge?.ipv4_address ?? '';
    expect(isIP(address)).toBe(4);
    expect(edge.trustedProxies).toEqual([`${address}/32`]);
    const { subnet, ip_range } = compose.networks.edge.ipam.config[0];
    expect(ipaddr.parse(address).match(ipaddr.parseCIDR(subnet))).toBe(true);
    expect(ipaddr.parse(address).match(ipaddr.parseCIDR(ip_range))).toBe(false);
  });
});

describe('deploy/nginx.conf', () => {
  it('spreads over the gateways of the compose file', () => {
    const servers = [...nginx.matchAll(/^\s*server (\S+:\d+)/gm)].map(([, server]) => server);
    expect(servers).toEqual(gateways.map(([name, { environment }]) => `${name}:${environment?.PORT ?? ''}`));
    const [, upstream] = /^\s*upstream (\S+) \{/m.exec(nginx) ?? [];
    expect(nginx).toContain(`proxy_pass http://${upstream ?? '?'};`);
  });

  it('appends the address of the caller and buffers nothing', () => {
    expect(nginx).toContain('proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;');
    expect(nginx).toContain('proxy_set_header Forwarded "";');
    expect(nginx).toMatch(/proxy_buffering off;\s+proxy_request_buffering off;/);
  });
});

describe('Dockerfile', () => {
  const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const nest = parse(read('nest-cli.json')) as { readonly projects: Readonly<Record<string, { readonly sourceRoot: string }>> };

  it('is built for the Node that package.json asks for, from what exists', () => {
    const { engines } = parse(read('package.json')) as { readonly engines: { readonly node: string } };
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(new Set(images)).toEqual(new Set([`node:${/\d+/.exec(engines.node)?.[0] ?? ''}-slim`]));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
    const ignored = read('.dockerignore').split('\n');
    for (const source of copied) {
      expect([source, existsSync(join(repositoryRoot, source))]).toEqual([source, true]);
      expect(ignored).toContain(`!${source}`);
    }
  });

  it('ships what runs and no more, and not as root', () => {
    const shipped = [...lastStage.matchAll(/^COPY .*?(\S+) \S+$/gm)].map(([, source]) => source);
    expect(shipped).toEqual(['/app/node_modules', '/app/dist', 'lua', 'package.json']);
    expect(dockerfile).toContain('RUN npm ci --omit=dev');
    expect(lastStage).toMatch(/^USER node$/m);
  });

  it('exposes and checks the ports of the gateway', () => {
    const env = envNames('apps/gateway/src/gateway.env.ts');
    expect(lastStage).toContain(`EXPOSE ${String(env.get('PORT'))} ${String(env.get('ADMIN_PORT'))}`);
    expect(lastStage).toContain(`\${process.env.ADMIN_PORT || ${String(env.get('ADMIN_PORT'))}}/health/live`);
    expect(existsSync(join(repositoryRoot, 'apps/gateway/src/admin'))).toBe(true);
  });

  it('starts apps that the build makes', () => {
    const commands = own.map(([, { command = [] }]) => command.at(-1));
    const [, byDefault] = /^CMD .*"(\S+)"\]$/m.exec(lastStage) ?? [];
    for (const script of [...commands, byDefault]) {
      const app = /^dist\/apps\/([^/]+)\/src\/main\.js$/.exec(script ?? '')?.[1] ?? '';
      expect(nest.projects[app]?.sourceRoot).toBe(`apps/${app}/src`);
      expect(existsSync(join(repositoryRoot, `apps/${app}/src/main.ts`))).toBe(true);
    }
  });
});
