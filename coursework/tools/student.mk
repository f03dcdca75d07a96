# make lab   install what is needed into .venv, once, and open the notebook
PYTHON ?= python3
SETTINGS := .venv/share/jupyter/lab/settings
ASK_NOBODY := {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}

lab: .venv/.done
	.venv/bin/jupyter lab NAME.ipynb

.venv/.done: requirements.txt constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5) and "Python 3.11.5 or newer is needed; name one with make lab PYTHON=...")'
	@echo "Installing the library and JupyterLab into .venv: a gigabyte, some minutes. The last step shows nothing."
	$(PYTHON) -m venv .venv
	@# Python compiles a module when it is first imported; compiling all would double the time.
	.venv/bin/python -m pip install --no-compile --disable-pip-version-check -r requirements.txt
	@# JupyterLab asks nothing when it starts, and looks for no news.
	@mkdir -p $(SETTINGS) && echo '$(ASK_NOBODY)' > $(SETTINGS)/overrides.json
	@touch $@

.PHONY: lab
