/** Envoy as a plain proxy with one worker thread: everything that comes goes to the backend, over connections that are kept. */
export function envoyConfig(backendPort: number): object {
  const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const type = (name: string) => ({ '@type': `type.googleapis.com/envoy.extensions.filters.${name}` });
  const manager = {
    ...type('network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'bench',
    route_config: {
      virtual_hosts: [{ name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'backend' } }] }],
    },
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: type('http.router.v3.Router') }],
  };
  return {
    admin: { address: address(0) },
    static_resources: {
      listeners: [
        {
          name: 'bench',
          address: address(0),
          filter_chains: [{ filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] }],
        },
      ],
      clusters: [
        {
          name: 'backend',
          type: 'STATIC',
          connect_timeout: '0.25s',
          load_assignment: { cluster_name: 'backend', endpoints: [{ lb_endpoints: [{ endpoint: { address: address(backendPort) } }] }] },
        },
      ],
    },
  };
}
