// Starts `subrosa lsp` and connects it with the editor.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const settings = vscode.workspace.getConfiguration("subrosa");
  const [command, ...args] = settings.get("command");
  const data = settings.get("data");
  const env = data ? { ...process.env, SUBROSA_DATA: data } : process.env;
  const server = { command, args, options: { env } };
  const documentSelector = [
    { scheme: "file", language: "subrosa-ron" },
    { scheme: "untitled", language: "subrosa-ron" },
  ];
  client = new LanguageClient("subrosa", "subrosa", server, { documentSelector });
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(
      `subrosa: cannot start ${command} (${error.message}). Install it, or name it in the setting subrosa.command.`,
    );
  });
}

exports.activate = async (context) => {
  const restart = async () => {
    await client?.stop().catch(() => {});
    await start();
  };
  context.subscriptions.push(vscode.commands.registerCommand("subrosa.restart", restart));
  await start();
};

exports.deactivate = () => client?.stop();
