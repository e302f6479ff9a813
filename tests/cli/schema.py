"""tests/cli/schema.py SCHEMA JSON - fail unless a file of JSON fits a JSON Schema.

Knows what docs/schema uses of draft 2020-12: type, const, enum, properties, required, additionalProperties,
items, minItems, minimum, pattern, oneOf, $ref into $defs and into files beside the schema.  A keyword that it
does not know is an error, so that nothing passes unchecked."""
import json
import os
import re
import sys

TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}
KNOWN = {'$schema', '$id', '$defs', '$ref', 'title', 'description', 'type', 'const', 'enum', 'properties',
         'required', 'additionalProperties', 'items', 'minItems', 'minimum', 'pattern', 'oneOf'}


def is_type(value, name):
    if name == 'number':
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == 'integer':
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Schema:
    def __init__(self, path):
        self.folder = os.path.dirname(path)
        self.root = json.load(open(path))

    def resolve(self, reference):
        file, _, pointer = reference.partition('#')
        home = Schema(os.path.join(self.folder, file)) if file else self
        node = home.root
        for part in filter(None, pointer.split('/')):
            node = node[part]
        return home, node

    def check(self, node, value, at):
        """All that is wrong with a value."""
        if isinstance(node, bool):
            return [] if node else [at + ': nothing may be here']
        wrong = [at + ': the checker does not know ' + word for word in node if word not in KNOWN]
        if '$ref' in node:
            home, target = self.resolve(node['$ref'])
            wrong += home.check(target, value, at)
        kinds = node.get('type', [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(is_type(value, kind) for kind in kinds):
            return wrong + ['%s: %r is no %s' % (at, value, ' or '.join(kinds))]
        if 'const' in node and (value != node['const'] or isinstance(value, bool) != isinstance(node['const'], bool)):
            wrong.append('%s: %r instead of %r' % (at, value, node['const']))
        if 'enum' in node and value not in node['enum']:
            wrong.append('%s: %r is none of %r' % (at, value, node['enum']))
        if 'minimum' in node and is_type(value, 'number') and value < node['minimum']:
            wrong.append('%s: %r is below %r' % (at, value, node['minimum']))
        if 'pattern' in node and isinstance(value, str) and not re.search(node['pattern'], value):
            wrong.append('%s: %r does not match %s' % (at, value, node['pattern']))
        if 'oneOf' in node:
            fitting = [k for k, one in enumerate(node['oneOf']) if not self.check(one, value, at)]
            if len(fitting) != 1:
                wrong.append('%s: %r fits %d alternatives' % (at, value, len(fitting)))
        if isinstance(value, dict):
            wrong += self.check_object(node, value, at)
        if isinstance(value, list):
            if len(value) < node.get('minItems', 0):
                wrong.append('%s: %d items' % (at, len(value)))
            for k, item in enumerate(value):
                wrong += self.check(node.get('items', True), item, '%s[%d]' % (at, k))
        return wrong

    def check_object(self, node, value, at):
        wrong = ['%s: no %s' % (at, key) for key in node.get('required', []) if key not in value]
        properties = node.get('properties', {})
        for key, item in value.items():
            if key in properties:
                wrong += self.check(properties[key], item, at + '.' + key)
            elif 'additionalProperties' in node:
                wrong += self.check(node['additionalProperties'], item, at + '.' + key)
        return wrong


def main():
    schema = Schema(sys.argv[1])
    with open(sys.argv[2]) as stream:
        wrong = schema.check(schema.root, json.load(stream), '$')
    print('\n'.join(wrong))
    return len(wrong) > 0


sys.exit(main())
