'use strict';
// Scripts lie in the skill's folder and their packages here, so node is told to look here, too: behind whatever it
// finds by itself.
const Module = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const here = pathToFileURL(__filename).href;
const packages = path.join(__dirname, 'node_modules');

// `require` reads this variable, also in programs of node that a script starts.
process.env.NODE_PATH = [packages, process.env.NODE_PATH].filter(Boolean).join(path.delimiter);
Module._initPaths();

// `import` does not, so a name that leads nowhere is looked for once more from here.
if (typeof Module.registerHooks === 'function') {
  Module.registerHooks({
    resolve(name, context, next) {
      try {
        return next(name, context);
      } catch (error) {
        if (error?.code !== 'ERR_MODULE_NOT_FOUND' || /^[./]|^[a-z]+:/i.test(name)) throw error;
        try {
          return next(name, { ...context, parentURL: here });
        } catch {
          throw error;
        }
      }
    },
  });
} else if (typeof Module.register === 'function') {
  const hooks = `
    export async function resolve(name, context, next) {
      try {
        return await next(name, context);
      } catch (error) {
        if (error?.code !== 'ERR_MODULE_NOT_FOUND' || /^[./]|^[a-z]+:/i.test(name)) throw error;
        try {
          return await next(name, { ...context, parentURL: ${JSON.stringify(here)} });
        } catch {
          throw error;
        }
      }
    }`;
  Module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
