# make lab   install what is needed into .venv, once, and open the notebook
PYTHON ?= python3

lab: .venv/.done
	.venv/bin/jupyter lab NAME.ipynb

.venv/.done: requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with make lab PYTHON=...")'
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install -q -r requirements.txt
	@touch $@

.PHONY: lab
